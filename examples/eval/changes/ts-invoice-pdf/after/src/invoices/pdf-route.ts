import { Invoice, InvoiceRepository, Request, Response, withOwnInvoice } from "./guard";

export interface PdfRenderer {
  render(invoice: Invoice): Promise<Uint8Array>;
}

function pdfHeaders(invoice: Invoice): Record<string, string> {
  return {
    "Content-Type": "application/pdf",
    "Content-Disposition": `attachment; filename="invoice-${invoice.number}.pdf"`,
    "Cache-Control": "private, no-store",
  };
}

/** Returns the handler of `GET /invoices/:id/pdf`. */
export function pdfRoute(
  invoices: InvoiceRepository,
  renderer: PdfRenderer,
): (request: Request) => Promise<Response> {
  return withOwnInvoice(invoices, async (invoice) => {
    if (invoice.draft) {
      return { status: 409, headers: {}, body: "a draft has no PDF" };
    }
    const pdf = await renderer.render(invoice);
    return { status: 200, headers: pdfHeaders(invoice), body: pdf };
  });
}
