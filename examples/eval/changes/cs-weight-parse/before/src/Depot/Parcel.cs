namespace Depot;

/// <summary>A parcel with its weight in grams.</summary>
public sealed record Parcel(string Number, int Grams);
