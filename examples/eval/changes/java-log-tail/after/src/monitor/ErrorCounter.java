package monitor;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Counts error lines in a folder of logs. */
public final class ErrorCounter {
    private static final String MARK = " ERROR ";

    private final Path folder;

    public ErrorCounter(Path folder) {
        this.folder = folder;
    }

    /** Counts once; called by the scheduler every minute. */
    public Report count() throws IOException {
        Map<String, Long> errors = new HashMap<>();
        try (DirectoryStream<Path> logs = Files.newDirectoryStream(folder, "*.log")) {
            for (Path log : logs) {
                long lines = errorLines(log);
                if (lines > 0) {
                    errors.put(log.getFileName().toString(), lines);
                }
            }
        }
        return new Report(errors);
    }

    private static long errorLines(Path log) throws IOException {
        try {
            return Files.lines(log).filter(line -> line.contains(MARK)).count();
        } catch (NoSuchFileException rotated) {
            return 0;
        }
    }
}
