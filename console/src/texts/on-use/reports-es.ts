import type { ReportsKey } from './reports-en.js';

/** The texts of Reports, in Spanish. */
export const reportsEs: Record<ReportsKey, string> = {
  'reportLead.received':
    'Lo recibido, comparado con los mismos días de la semana anterior, y lo que está en el almacén. Los días son los de {zone}.',
  'reportLead.shipped':
    'Los paquetes que salieron con un manifiesto, en el día de su envío. Los días son los de {zone}.',
  'reportLead.announced': 'Los anuncios, en el día en que se crearon. Los días son los de {zone}.',
  'reportLead.unknown':
    'Los paquetes que ahora no tienen cliente, en el día en que se recibieron. Los días son los de {zone}.',
  'reportLead.people':
    'Quién recibió, pesó, cargó y envió cuánto. Un peso cuenta con cada recepción y cada cambio; un paquete cargado dos veces cuenta una vez. Los días son los de {zone}.',
  'reports.report': 'Informe',
  'report.received': 'Recibidos',
  'report.shipped': 'Enviados',
  'report.announced': 'Anunciados',
  'report.unknown': 'Sin cliente',
  'report.people': 'Trabajo por persona',
  'reportWork.received': 'Recibidos',
  'reportWork.weighed': 'Pesados',
  'reportWork.loaded': 'Cargados',
  'reportWork.shipped': 'Enviados',
  'reports.per': '{what} por {by}',
  'reports.courier': 'courier',
  'reports.person': 'persona',
  'reports.people': 'Todo el trabajo por persona',
  'reports.user': 'Usuario',
  'reports.role': 'Rol',
  'reports.nothing': 'Nada en estos días.',
  'reports.last': 'Últimos',
  'reports.ownDays': 'los días de abajo',
  'reports.by': 'Por',
  'reports.tooLong':
    'Un informe abarca {days} días como máximo. Elija un primer día posterior o un último día anterior.',
  'reports.reversed': 'El último día es anterior al primero.',
  'reports.received': 'Recibidos',
  'reports.before': 'Una semana antes',
  'reports.change': 'Cambio, %',
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
  'reportDays.week': '7 días, de lunes a domingo (semana pasada)',
  'reportDays.14': '14 días',
  'reportDays.31': '31 días',
};
