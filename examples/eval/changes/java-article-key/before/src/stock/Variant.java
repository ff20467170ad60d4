package stock;

/**
 * An article in one size. Instances are made per parsed line and are not interned;
 * compare them with {@link #sameAs}.
 */
public final class Variant {
    private final String article;
    private final String size;

    public Variant(String article, String size) {
        this.article = article;
        this.size = size;
    }

    public String article() {
        return article;
    }

    public String size() {
        return size;
    }

    public boolean sameAs(Variant other) {
        return article.equals(other.article) && size.equals(other.size);
    }
}
