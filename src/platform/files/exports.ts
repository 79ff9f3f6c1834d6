export const MEDIA_TYPES = {
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;

/** The formats of exports. */
export type ExportFormat = keyof typeof MEDIA_TYPES;

/** Returns the name of an export, with its time as YYYYMMDD-HHMMSS in UTC. */
export function exportName(records: string, now: Date, format: ExportFormat): string {
  const time = now.toISOString().slice(0, 19).replaceAll('-', '').replaceAll(':', '').replace('T', '-');
  return `${records}-${time}.${format}`;
}
