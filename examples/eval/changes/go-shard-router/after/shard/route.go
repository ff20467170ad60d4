package shard

import "hash/fnv"

// home returns the index of the home node of the key.
func (c *Cluster) home(key string) int {
	hash := fnv.New32a()
	hash.Write([]byte(key))
	return int(hash.Sum32() % uint32(len(c.nodes)))
}

// replicas returns the number of nodes that hold a document.
func (c *Cluster) replicas() int {
	if c.copies > len(c.nodes) {
		return len(c.nodes)
	}
	return c.copies
}

// Route returns the nodes of the document, the home node first.
func (c *Cluster) Route(key string) []string {
	home := c.home(key)
	route := make([]string, c.replicas())
	for i := range route {
		route[i] = c.nodes[(home+i)%len(c.nodes)]
	}
	return route
}

// Holds returns true if the node holds a replica of the document.
func (c *Cluster) Holds(node, key string) bool {
	for _, candidate := range c.Route(key) {
		if candidate == node {
			return true
		}
	}
	return false
}
