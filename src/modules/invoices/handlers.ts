import type { Handlers } from '../../../generated/handlers.js';
import { jsonText } from '../../platform/contract/json-text.js';
import { recordOf } from '../../platform/contract/record.js';
import { reply } from '../../platform/contract/reply.js';
import type { DataOf } from '../../platform/contract/types.js';
import { countOf } from '../../platform/values/count-of.js';
import type { Deps } from '../dependencies.js';
import { gapWarning } from '../rates/public.js';
import { previewInvoice, type Preview } from './invoices.js';
import { previewRates } from './preview-rates.js';

export function invoiceHandlers({ bulk }: Deps) {
  return {
    async previewCourierInvoice({ ctx, body }) {
      const data = await bulk.limitReport(ctx.caller, async () =>
        viewPreview(await previewInvoice(ctx, body)),
      );
      return reply(`Preview of ${countOf(data.summary.total_packages, 'package')}.`, data);
    },

    async previewRates({ ctx, body }) {
      const data = await bulk.limitReport(ctx.caller, () => previewRates(ctx, body));
      return reply(`Preview of ${countOf(data.packages, 'package')}.`, data);
    },
  } satisfies Partial<Handlers>;
}

type InvoicePreview = DataOf<'previewCourierInvoice'>;

async function viewPreview({ parties, figures, billed }: Preview): Promise<InvoicePreview> {
  const {
    issuerName: name,
    issuerAddress,
    issuerCity: city,
    issuerCountry: country,
    issuerPhone: phone,
    issuerEmail: email,
    currency,
    ...courier
  } = parties;
  const { lines, gaps, totalPackages, ...sums } = figures;
  const decimals = Object.keys(sums) as (keyof typeof sums)[];
  return {
    warehouse: { name, address: issuerAddress ?? '', city, country, phone, email },
    courier: recordOf(courier),
    currency,
    summary: { total_packages: totalPackages, ...recordOf(sums, decimals) },
    breakdown: lines.map(({ startLb, endLb, count, rate, subtotal }) => ({
      range: `${startLb}-${endLb} lb`,
      count,
      rate: Number(rate),
      subtotal: Number(subtotal),
    })),
    // listBilled creates exactly the elements of the contract's list.
    packages: await jsonText<InvoicePreview['packages'][number]>(billed.map(({ packages }) => packages)),
    warnings: gaps.map(gapWarning),
  };
}
