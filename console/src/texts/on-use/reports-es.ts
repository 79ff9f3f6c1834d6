import type { ReportsKey } from './reports-en.js';

/** The texts of Reports, in Spanish. */
export const reportsEs: Record<ReportsKey, string> = {
  'reports.lead':
    'Lo recibido, comparado con los mismos días de la semana anterior, y lo que está en el almacén. Los días son UTC.',
  'reports.last': 'Últimos',
  'reports.ownDays': 'los días de abajo',
  'reports.by': 'Por',
  'reports.tooLong':
    'Un informe abarca {days} días como máximo. Elige un primer día posterior o un último día anterior.',
  'reports.reversed': 'El último día es anterior al primero.',
  'reports.received': 'Recibidos',
  'reports.before': 'Una semana antes',
  'reports.change': 'Cambio',
  'reports.time': 'Recibidos por {unit}',
  'reports.couriers': 'Recibidos por courier',
  'reports.statuses': 'Qué fue de ellos',
  'reports.ages': 'Cuánto tiempo llevan los paquetes en el almacén',
  'reports.none': 'No se recibió nada en estos días.',
  'reports.export': 'Exportar CSV',
  'reports.weight': 'Peso, lb',
  'reports.weekOf': 'Semana del {day}',
  'reportUnit.day': 'día',
  'reportUnit.week': 'semana',
  'reportDays.7': '7 días',
  'reportDays.14': '14 días',
  'reportDays.31': '31 días',
};
