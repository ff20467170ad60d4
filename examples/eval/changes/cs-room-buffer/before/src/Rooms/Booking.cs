using System;

namespace Rooms;

/// <summary>A booking of a room; the end is after the start.</summary>
public sealed record Booking(
    int RoomId,
    DateTimeOffset Start,
    DateTimeOffset End,
    bool Cancelled);
