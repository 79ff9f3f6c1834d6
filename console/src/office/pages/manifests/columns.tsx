import type { ManifestSummary } from '../../../../../sdk/typescript/src/index.js';
import { date, dateTime, number, pounds, t, textOf } from '../../../texts/texts.js';
import { ManifestTag } from '../../../ui/status.js';
import type { ListColumn } from '../../list/table.js';

/** The columns of a list of manifests. @param linkOf returns the address of a manifest by its number */
export const manifestColumns = (linkOf: (number: string) => string): ListColumn<ManifestSummary>[] => [
  {
    id: 'manifest_number',
    title: t('common.number'),
    cell: ({ manifest_number }) => (
      <a class="mono strong" href={linkOf(manifest_number)}>
        {manifest_number}
      </a>
    ),
    text: ({ manifest_number }) => manifest_number,
    sortBy: 'manifest_number',
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ status }) => <ManifestTag status={status} />,
    text: ({ status }) => textOf('manifest', status),
  },
  {
    id: 'awb',
    title: t('manifests.awb'),
    cell: ({ awb_number }) => <span class="mono">{awb_number}</span>,
    text: ({ awb_number }) => awb_number ?? '',
  },
  {
    id: 'flight',
    title: t('manifests.flight'),
    cell: ({ flight_number }) => flight_number,
    text: ({ flight_number }) => flight_number ?? '',
  },
  {
    id: 'flight_date',
    title: t('manifests.flightDate'),
    cell: ({ flight_date }) => flight_date && date(flight_date),
    text: ({ flight_date }) => flight_date ?? '',
    sortBy: 'flight_date',
  },
  {
    id: 'packages',
    title: t('common.packages'),
    cell: ({ packages }) => number(packages),
    isNumber: true,
    text: ({ packages }) => packages,
  },
  {
    id: 'weight',
    title: t('common.weight'),
    cell: ({ weight_lb }) => pounds(weight_lb),
    isNumber: true,
    text: ({ weight_lb }) => weight_lb,
  },
  {
    id: 'created_at',
    title: t('manifests.created'),
    cell: ({ created_at }) => dateTime(created_at),
    text: ({ created_at }) => created_at,
    sortBy: 'created_at',
  },
  {
    id: 'notes',
    title: t('manifests.notes'),
    cell: ({ notes }) => notes,
    text: ({ notes }) => notes ?? '',
    isHidden: true,
  },
];
