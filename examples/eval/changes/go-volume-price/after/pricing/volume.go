package pricing

import (
	"errors"
	"sort"
)

// ErrQuantity is returned for a quantity below one.
var ErrQuantity = errors.New("pricing: quantity must be at least 1")

// Line is a priced order line.
type Line struct {
	SKU        string
	Quantity   int
	UnitCents  int64
	TotalCents int64
}

// unitPrice returns the unit price of the article for the quantity.
func unitPrice(article Article, quantity int) int64 {
	tiers := article.Tiers
	above := sort.Search(len(tiers), func(i int) bool {
		return tiers[i].MinQuantity >= quantity
	})
	if above == 0 {
		return article.ListCents
	}
	return tiers[above-1].UnitCents
}

// Price returns the line for a quantity of the article.
func Price(article Article, quantity int) (Line, error) {
	if quantity < 1 {
		return Line{}, ErrQuantity
	}
	unit := unitPrice(article, quantity)
	return Line{
		SKU:        article.SKU,
		Quantity:   quantity,
		UnitCents:  unit,
		TotalCents: unit * int64(quantity),
	}, nil
}
