/** The texts of the preview of rates, in English. They load with its first use. */
export const ratesEn = {
  'ratePreview.title': 'What would last month have cost?',
  'ratePreview.hint':
    'With the tiers above, without saving them. Without air freight and tax. A month has the parcels that were received in it, in UTC.',
  'ratePreview.defaults': 'The parcels of all couriers without rates of their own.',
  'ratePreview.month': 'Month',
  'ratePreview.run': 'Calculate',
  'ratePreview.now': 'By the present rates',
  'ratePreview.then': 'By these rates',
  'ratePreview.difference': 'Difference',
  'ratePreview.tiers': 'Cost per tier',
  'ratePreview.weight': 'Weight (lb)',
  'ratePreview.nowUsd': 'Now ({currency})',
  'ratePreview.thenUsd': 'Then ({currency})',
  'ratePreview.export': 'Export CSV',
  'ratePreview.file': 'rates-preview-{month}',
  'ratePreview.none': 'No parcels were received in this month.',
  'ratePreview.gap':
    'No tier covers {range}. Parcels of the month without a fee: {count}, now {amount} {currency}.',
  'ratePreview.between': '{from} to {to} lb',
  'ratePreview.above': 'more than {from} lb',
  'ratePreview.any': 'any weight',
  'ratePreview.withoutTier': 'Without a tier',
} as const;

export type RatesKey = keyof typeof ratesEn;
