package monitor;

import java.util.Map;

/** Error counts by file name. */
public record Report(Map<String, Long> errors) {
    public Report {
        errors = Map.copyOf(errors);
    }
}
