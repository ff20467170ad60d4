package catalog;

import java.io.IOException;

/** Holds the catalogue of the shop. */
public final class CatalogHolder {
    /** Reads the catalogue from the database; never returns null. */
    public interface Loader {
        Catalog load() throws IOException;
    }

    private final Loader loader;
    private Catalog catalog;

    public CatalogHolder(Loader loader) {
        this.loader = loader;
    }

    /** Returns the catalogue and loads it if this has not happened yet. */
    public synchronized Catalog get() throws IOException {
        if (catalog == null) {
            catalog = loader.load();
        }
        return catalog;
    }
}
