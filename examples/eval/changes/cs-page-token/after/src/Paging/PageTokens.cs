using System;
using System.Buffers.Binary;
using System.Security.Cryptography;

namespace Paging;

/// <summary>Makes and reads page tokens.</summary>
public sealed class PageTokens
{
    private const int IdSize = sizeof(long);
    private const int MacSize = 32;
    private const int TokenSize = IdSize + MacSize;

    private readonly byte[] _key;

    public PageTokens(PagingOptions options)
    {
        _key = options.Key;
    }

    /// <summary>Returns the token for the page after the row.</summary>
    public string Create(long lastId)
    {
        Span<byte> token = stackalloc byte[TokenSize];
        BinaryPrimitives.WriteInt64BigEndian(token, lastId);
        HMACSHA256.HashData(_key, token[..IdSize], token[IdSize..]);
        return Convert.ToBase64String(token);
    }

    /// <summary>Returns the id of the last row before the page, 0 without a token.</summary>
    public long Read(string? text)
    {
        if (text is null)
        {
            return 0;
        }
        Span<byte> token = stackalloc byte[TokenSize];
        if (!Convert.TryFromBase64String(text, token, out int size) || size != TokenSize)
        {
            throw new InvalidPageTokenException();
        }
        Span<byte> mac = stackalloc byte[MacSize];
        HMACSHA256.HashData(_key, token[..IdSize], mac);
        if (!CryptographicOperations.FixedTimeEquals(mac, token[IdSize..]))
        {
            throw new InvalidPageTokenException();
        }
        return BinaryPrimitives.ReadInt64BigEndian(token);
    }
}
