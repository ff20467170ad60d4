export interface Invoice {
  readonly id: string;
  readonly companyId: string;
  /** Digits and hyphens. */
  readonly number: string;
  readonly draft: boolean;
}

export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

export interface Request {
  readonly params: Readonly<Record<string, string>>;
  /** The company of the signed-in user, set by the sign-in middleware. */
  readonly companyId: string;
}

export interface InvoiceRepository {
  /** Finds an invoice of any company. */
  find(id: string): Promise<Invoice | undefined>;
}

export const NOT_FOUND: Response = { status: 404, headers: {}, body: "not found" };

/**
 * Wraps a handler: loads the invoice that the path names and answers 404 unless it
 * belongs to the company of the user. The handler is not called then.
 */
export function withOwnInvoice(
  invoices: InvoiceRepository,
  handler: (invoice: Invoice) => Promise<Response>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const invoice = await invoices.find(request.params.id);
    if (invoice === undefined || invoice.companyId !== request.companyId) {
      return NOT_FOUND;
    }
    return handler(invoice);
  };
}
