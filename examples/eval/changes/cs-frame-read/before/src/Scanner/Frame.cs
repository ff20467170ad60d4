namespace Scanner;

/// <summary>A frame of a scanner; the body is not empty.</summary>
public sealed record Frame(byte[] Body);
