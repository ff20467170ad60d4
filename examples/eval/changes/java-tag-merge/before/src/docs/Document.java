package docs;

import java.util.List;

/** A document. Instances are immutable. */
public final class Document {
    private final String title;
    private final String summary;
    private final List<String> tags;

    /** The summary may be empty but not null; the tags are copied. */
    public Document(String title, String summary, List<String> tags) {
        this.title = title;
        this.summary = summary;
        this.tags = List.copyOf(tags);
    }

    public String title() {
        return title;
    }

    public String summary() {
        return summary;
    }

    /** Returns the tags; the list cannot be modified. */
    public List<String> tags() {
        return tags;
    }
}
