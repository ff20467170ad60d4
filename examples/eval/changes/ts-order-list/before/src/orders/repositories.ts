export interface Order {
  readonly number: string;
  readonly customerId: string;
  readonly totalCents: number;
}

export interface Customer {
  readonly id: string;
  readonly name: string;
  readonly city: string;
}

export interface OrderRepository {
  /** One query; newest orders first. */
  page(index: number, size: number): Promise<Order[]>;
}

export interface CustomerRepository {
  /** One query; undefined for a deleted customer. */
  byId(id: string): Promise<Customer | undefined>;
  /** One query for all ids, duplicates allowed; deleted customers are left out. */
  byIds(ids: readonly string[]): Promise<Map<string, Customer>>;
}
