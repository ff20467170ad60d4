using System;
using System.Collections.Generic;
using System.Linq;

namespace Rooms;

/// <summary>Decides whether a room can be booked.</summary>
public static class Availability
{
    private static readonly TimeSpan CleaningTime = TimeSpan.FromMinutes(15);
    private static readonly TimeSpan MinLength = TimeSpan.FromMinutes(15);
    private static readonly TimeSpan MaxLength = TimeSpan.FromHours(12);

    /// <summary>Returns true if the room is free for the wanted time.</summary>
    /// <exception cref="ArgumentException">The length is not allowed.</exception>
    public static bool CanBook(
        IEnumerable<Booking> bookings,
        int roomId,
        DateTimeOffset start,
        DateTimeOffset end)
    {
        TimeSpan length = end - start;
        if (length < MinLength || length > MaxLength)
        {
            throw new ArgumentException("A booking lasts 15 minutes to 12 hours.", nameof(end));
        }
        return !bookings
            .Where(booking => booking.RoomId == roomId && !booking.Cancelled)
            .Any(booking => Conflicts(booking, start, end));
    }

    private static bool Conflicts(Booking existing, DateTimeOffset start, DateTimeOffset end)
    {
        return start < existing.End + CleaningTime && existing.Start < end;
    }
}
