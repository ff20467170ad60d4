using System;

namespace Retry;

/// <summary>Decides about further attempts of a call.</summary>
public sealed class RetryPolicy
{
    private static readonly TimeSpan LongestFirstDelay = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan LongestDelay = TimeSpan.FromMinutes(5);

    private readonly TimeSpan _firstDelay;
    private readonly double _factor;

    public RetryPolicy(int maxAttempts, TimeSpan firstDelay, double factor)
    {
        if (maxAttempts is < 1 or > 10)
        {
            throw new ArgumentOutOfRangeException(nameof(maxAttempts), "1 to 10 attempts");
        }
        if (firstDelay <= TimeSpan.Zero || firstDelay > LongestFirstDelay)
        {
            throw new ArgumentOutOfRangeException(nameof(maxAttempts), "up to one minute");
        }
        if (!(factor >= 1))
        {
            throw new ArgumentOutOfRangeException(nameof(factor), "at least 1");
        }
        MaxAttempts = maxAttempts;
        _firstDelay = firstDelay;
        _factor = factor;
    }

    public int MaxAttempts { get; }

    /// <summary>Returns the delay before an attempt, which counts from 2.</summary>
    public TimeSpan DelayBefore(int attempt)
    {
        if (attempt < 2 || attempt > MaxAttempts)
        {
            throw new ArgumentOutOfRangeException(nameof(attempt), "2 to the last attempt");
        }
        return Delays.Scale(_firstDelay, Math.Pow(_factor, attempt - 2), LongestDelay);
    }
}
