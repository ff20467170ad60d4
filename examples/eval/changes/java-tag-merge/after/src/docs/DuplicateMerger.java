package docs;

import java.util.List;

/** Merges duplicates into the document that is kept. */
public final class DuplicateMerger {
    private DuplicateMerger() {
    }

    /** Returns the kept document with the tags and, if needed, the summary of the other. */
    public static Document merge(Document kept, Document other) {
        List<String> tags = kept.tags();
        for (String tag : other.tags()) {
            if (!tags.contains(tag)) {
                tags.add(tag);
            }
        }
        return new Document(kept.title(), summaryOf(kept, other), tags);
    }

    private static String summaryOf(Document kept, Document other) {
        return kept.summary().isEmpty() ? other.summary() : kept.summary();
    }
}
