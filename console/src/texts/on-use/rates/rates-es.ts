import type { RatesKey } from './rates-en.js';

/** The texts of the preview of rates, in Spanish. */
export const ratesEs: Record<RatesKey, string> = {
  'ratePreview.title': '¿Cuánto habría costado el mes pasado?',
  'ratePreview.hint':
    'Con los tramos de arriba, sin guardarlos. Sin flete aéreo ni impuesto. Un mes tiene los paquetes que se recibieron en él, en UTC.',
  'ratePreview.defaults': 'Los paquetes de todos los couriers sin tarifas propias.',
  'ratePreview.month': 'Mes',
  'ratePreview.run': 'Calcular',
  'ratePreview.now': 'Con las tarifas actuales',
  'ratePreview.then': 'Con estas tarifas',
  'ratePreview.difference': 'Diferencia',
  'ratePreview.tiers': 'Costo por tramo',
  'ratePreview.weight': 'Peso (lb)',
  'ratePreview.nowUsd': 'Ahora ({currency})',
  'ratePreview.thenUsd': 'Después ({currency})',
  'ratePreview.export': 'Exportar CSV',
  'ratePreview.file': 'tarifas-{month}',
  'ratePreview.none': 'No se recibió ningún paquete en este mes.',
  'ratePreview.gap':
    'Ningún tramo cubre {range}. Paquetes del mes sin tarifa: {count}, ahora {amount} {currency}.',
  'ratePreview.between': 'de {from} a {to} lb',
  'ratePreview.above': 'más de {from} lb',
  'ratePreview.any': 'peso alguno',
  'ratePreview.withoutTier': 'Sin tramo',
};
