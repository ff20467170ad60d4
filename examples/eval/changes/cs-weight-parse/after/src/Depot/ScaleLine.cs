using System.Text.RegularExpressions;

namespace Depot;

/// <summary>Reads the lines of the parcel scale.</summary>
public static class ScaleLine
{
    private const int MaxGrams = 70_000;

    private static readonly Regex Format = new(
        @"\AW ([0-9]{1,3}\.[0-9]{3}) kg ([SM])\z",
        RegexOptions.CultureInvariant);

    /// <summary>Returns the weight in grams, null if the line has no usable weight.</summary>
    public static int? ReadGrams(string line)
    {
        Match match = Format.Match(line.Trim());
        if (!match.Success || match.Groups[2].Value != "S")
        {
            return null;
        }
        decimal kilograms = decimal.Parse(match.Groups[1].Value);
        int grams = (int)(kilograms * 1000m);
        return grams is > 0 and <= MaxGrams ? grams : null;
    }

    /// <summary>Returns the parcel with the weight of the line, null without a weight.</summary>
    public static Parcel? Weigh(string number, string line)
    {
        int? grams = ReadGrams(line);
        return grams is null ? null : new Parcel(number, grams.Value);
    }
}
