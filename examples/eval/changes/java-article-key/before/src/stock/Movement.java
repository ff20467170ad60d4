package stock;

/** A change of the stock; outgoing goods have a negative quantity. */
public record Movement(Variant variant, int quantity) {
}
