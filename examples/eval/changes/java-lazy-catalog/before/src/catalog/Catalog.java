package catalog;

import java.util.Map;

/** An immutable catalogue: product names by number. */
public record Catalog(Map<String, String> names) {
    public Catalog {
        names = Map.copyOf(names);
    }
}
