using System;

namespace Retry;

public static class Delays
{
    /// <summary>Multiplies a delay; the result is at most the maximum.</summary>
    public static TimeSpan Scale(TimeSpan delay, double factor, TimeSpan maximum)
    {
        double ticks = delay.Ticks * factor;
        return ticks >= maximum.Ticks ? maximum : TimeSpan.FromTicks((long)ticks);
    }
}
