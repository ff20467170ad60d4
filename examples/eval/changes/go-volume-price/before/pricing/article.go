package pricing

// Tier is a unit price in cents from a minimum quantity on.
type Tier struct {
	MinQuantity int
	UnitCents   int64
}

// Article is an article with its price list.
type Article struct {
	SKU       string
	ListCents int64
	// Tiers are in the order in which they were entered. The slice is shared with
	// the catalogue; readers must not change it.
	Tiers []Tier
}
