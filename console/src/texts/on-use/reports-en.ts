/** The texts of Reports, in English. They load with its page. */
export const reportsEn = {
  'reports.lead':
    'What was received, against the same days a week before, and what is in the warehouse. Days are in UTC.',
  'reports.last': 'Last',
  'reports.ownDays': 'days below',
  'reports.by': 'Per',
  'reports.tooLong': 'A report covers at most {days} days. Choose a later first day or an earlier last day.',
  'reports.reversed': 'The last day is before the first.',
  'reports.received': 'Received',
  'reports.before': 'A week before',
  'reports.change': 'Change',
  'reports.time': 'Received per {unit}',
  'reports.couriers': 'Received per courier',
  'reports.statuses': 'What became of them',
  'reports.ages': 'How long parcels have been in the warehouse',
  'reports.none': 'Nothing was received on these days.',
  'reports.export': 'Export CSV',
  'reports.weight': 'Weight, lb',
  'reports.weekOf': 'Week of {day}',
  'reportUnit.day': 'day',
  'reportUnit.week': 'week',
  'reportDays.7': '7 days',
  'reportDays.14': '14 days',
  'reportDays.31': '31 days',
} as const;

export type ReportsKey = keyof typeof reportsEn;
