using System;

namespace Paging;

public sealed class InvalidPageTokenException : Exception
{
}

/// <summary>Settings of paging; the key has at least 32 bytes, the loader checks it.</summary>
public sealed record PagingOptions(byte[] Key);
