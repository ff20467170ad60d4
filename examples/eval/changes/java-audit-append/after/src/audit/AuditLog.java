package audit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;

/** The audit log; the channel is positioned at its end and used by this object alone. */
public final class AuditLog {
    private final FileChannel channel;
    private String previous;
    private boolean broken;

    /** {@code lastLine} is the last line of the file, null for an empty file. */
    public AuditLog(FileChannel channel, String lastLine) {
        this.channel = channel;
        this.previous = lastLine == null ? Checksums.FIRST : Checksums.of(lastLine);
    }

    /** Appends a record and forces it to disk. */
    public synchronized void append(String text) throws IOException {
        if (broken) {
            throw new IOException("the audit log is broken");
        }
        if (text.indexOf('\n') >= 0 || text.indexOf('\r') >= 0) {
            throw new IllegalArgumentException("line break in audit text");
        }
        String line = previous + " " + text;
        long end = channel.position();
        try {
            ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        } catch (IOException | RuntimeException failure) {
            cutBack(end, failure);
            throw failure;
        }
        previous = Checksums.of(line);
    }

    private void cutBack(long end, Exception failure) {
        try {
            channel.truncate(end);
            channel.position(end);
        } catch (IOException | RuntimeException second) {
            broken = true;
            failure.addSuppressed(second);
        }
    }
}
