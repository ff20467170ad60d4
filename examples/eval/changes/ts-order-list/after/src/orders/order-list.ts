import { Customer, CustomerRepository, Order, OrderRepository } from "./repositories";

const PAGE_SIZE = 200;

export interface OrderRow {
  readonly number: string;
  readonly total: string;
  readonly customer: string;
  readonly city: string;
}

function formatCents(cents: number): string {
  return (cents / 100).toFixed(2);
}

function toRow(order: Order, customer: Customer | undefined): OrderRow {
  return {
    number: order.number,
    total: formatCents(order.totalCents),
    customer: customer?.name ?? "(deleted)",
    city: customer?.city ?? "",
  };
}

/** Returns the rows of one page of the order list. */
export async function orderRows(
  orders: OrderRepository,
  customers: CustomerRepository,
  pageIndex: number,
): Promise<OrderRow[]> {
  const rows: OrderRow[] = [];
  for (const order of await orders.page(pageIndex, PAGE_SIZE)) {
    const customer = await customers.byId(order.customerId);
    rows.push(toRow(order, customer));
  }
  return rows;
}
