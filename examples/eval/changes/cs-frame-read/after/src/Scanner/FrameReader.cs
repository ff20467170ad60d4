using System.Buffers.Binary;
using System.IO;
using System.Threading;
using System.Threading.Tasks;

namespace Scanner;

/// <summary>Reads frames from the stream of a connection.</summary>
public sealed class FrameReader
{
    private const int HeaderSize = 4;
    private const uint MaxBody = 1024 * 1024;

    private readonly Stream _stream;

    public FrameReader(Stream stream)
    {
        _stream = stream;
    }

    /// <summary>Returns the next frame, null at the end of the stream.</summary>
    public async Task<Frame?> ReadAsync(CancellationToken cancellation)
    {
        byte[] header = new byte[HeaderSize];
        int count = await _stream.ReadAtLeastAsync(
            header, HeaderSize, throwOnEndOfStream: false, cancellation);
        if (count == 0)
        {
            return null;
        }
        if (count < HeaderSize)
        {
            throw new EndOfStreamException("The stream ended inside of a header.");
        }
        uint length = BinaryPrimitives.ReadUInt32BigEndian(header);
        if (length == 0 || length > MaxBody)
        {
            throw new InvalidDataException($"A frame cannot have {length} bytes.");
        }
        byte[] body = new byte[length];
        if (await _stream.ReadAsync(body, cancellation) < body.Length)
        {
            throw new EndOfStreamException("The stream ended inside of a frame.");
        }
        return new Frame(body);
    }
}
