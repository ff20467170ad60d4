package geo

// Address is a postal address.
type Address struct {
	Street, Zip, City string
}

// Backend is the vendor's library. Find blocks until the vendor has answered.
type Backend interface {
	Find(query string) (Address, error)
}
