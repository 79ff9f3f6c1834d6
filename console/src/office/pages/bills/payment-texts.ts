/** The texts of the payments of a bill. They load with them. */
const paymentEn = {
  'payment.title': 'Payments',
  'payment.none': 'No payments yet.',
  'payment.record': 'Record a payment',
  'payment.recordEffect':
    '{courier} owes {balance} {currency} on {bill}. A payment lowers that. It cannot be removed: a wrong one is voided, and stays on the bill.',
  'payment.receivedOn': 'Received on',
  'payment.method': 'Method',
  'payment.referenceHint': 'Of the bank or the payer.',
  'payment.recorded': '{amount} {currency} recorded. To pay: {balance} {currency}.',
  'payment.settled': '{bill} is paid in full.',
  'payment.void': 'Void',
  'payment.isVoided': 'Voided',
  'payment.voidTitle': 'Void the payment',
  'payment.voidEffect':
    'The payment of {amount} {currency} by {courier} no longer counts, and {bill} has that much more to pay. It stays on the bill, struck through. This cannot be undone.',
  'payment.voidAction': 'Void {amount} {currency}',
  'payment.reasonHint': 'The courier sees it.',
  'payment.voided': '{amount} {currency} voided. To pay: {balance} {currency}.',
} as const;

export type PaymentKey = keyof typeof paymentEn;

const paymentEs: Record<PaymentKey, string> = {
  'payment.title': 'Pagos',
  'payment.none': 'Aún no hay pagos.',
  'payment.record': 'Registrar un pago',
  'payment.recordEffect':
    '{courier} debe {balance} {currency} de {bill}. Un pago reduce esa suma. No se puede quitar: un pago equivocado se anula y permanece en la factura.',
  'payment.receivedOn': 'Recibido el',
  'payment.method': 'Forma de pago',
  'payment.referenceHint': 'Del banco o de quien paga.',
  'payment.recorded': '{amount} {currency} registrados. Por pagar: {balance} {currency}.',
  'payment.settled': '{bill} está pagada por completo.',
  'payment.void': 'Anular',
  'payment.isVoided': 'Anulado',
  'payment.voidTitle': 'Anular el pago',
  'payment.voidEffect':
    'El pago de {amount} {currency} de {courier} deja de contar, y en {bill} queda esa suma por pagar. Permanece en la factura, tachado. No se puede deshacer.',
  'payment.voidAction': 'Anular {amount} {currency}',
  'payment.reasonHint': 'El courier lo ve.',
  'payment.voided': '{amount} {currency} anulados. Por pagar: {balance} {currency}.',
};

export const paymentTexts = { en: paymentEn, es: paymentEs };
