package catalog;

import java.io.IOException;

/** Holds the catalogue of the shop. */
public final class CatalogHolder {
    /** Reads the catalogue from the database; never returns null. */
    public interface Loader {
        Catalog load() throws IOException;
    }

    private final Loader loader;
    private final Object loading = new Object();
    private volatile Catalog catalog;

    public CatalogHolder(Loader loader) {
        this.loader = loader;
    }

    /** Returns the catalogue and loads it if this has not happened yet. */
    public Catalog get() throws IOException {
        Catalog current = catalog;
        if (current != null) {
            return current;
        }
        synchronized (loading) {
            if (catalog == null) {
                catalog = loader.load();
            }
            return catalog;
        }
    }

    /** Replaces the catalogue by a fresh one. */
    public void reload() throws IOException {
        synchronized (loading) {
            catalog = loader.load();
        }
    }
}
