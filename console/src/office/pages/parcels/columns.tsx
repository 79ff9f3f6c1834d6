import type { PackageRecord } from '../../../../../sdk/typescript/src/index.js';
import { dateTime, pounds, t, textOf } from '../../../texts/texts.js';
import { Code } from '../../../ui/code.js';
import { officeLink } from '../../../ui/router.js';
import { StatusTag } from '../../../ui/status.js';
import type { ListColumn } from '../../list/table.js';

const nameOf = ({ first_name, last_name }: PackageRecord) =>
  [first_name, last_name].filter(Boolean).join(' ');

/** The columns of the list of parcels. */
export const parcelColumns = (): ListColumn<PackageRecord>[] => [
  {
    id: 'house_number',
    title: t('common.house'),
    cell: ({ house_number }) => (
      <a class="mono strong" href={officeLink(['parcels', house_number])}>
        {house_number}
      </a>
    ),
    text: ({ house_number }) => house_number,
    sortBy: 'house_number',
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ status }) => <StatusTag status={status} />,
    text: ({ status }) => textOf('status', status),
  },
  {
    id: 'tracking_number',
    title: t('common.number'),
    cell: ({ tracking_number }) => <Code text={tracking_number} />,
    text: ({ tracking_number }) => tracking_number,
  },
  {
    id: 'user_code',
    title: t('common.customer'),
    cell: (row) => [row.user_code, nameOf(row)].filter(Boolean).join(' · '),
    text: (row) => [row.user_code, nameOf(row)].filter(Boolean).join(' · '),
    sortBy: 'user_code',
  },
  {
    id: 'courier',
    title: t('common.courier'),
    cell: ({ courier_name }) => courier_name,
    text: ({ courier_name }) => courier_name ?? '',
  },
  {
    id: 'weight',
    title: t('common.weight'),
    cell: ({ weight }) => pounds(weight),
    text: ({ weight }) => weight,
    sortBy: 'weight',
    isNumber: true,
  },
  {
    id: 'entry_date_time',
    title: t('common.receivedAt'),
    cell: ({ entry_date_time }) => dateTime(entry_date_time),
    text: ({ entry_date_time }) => entry_date_time,
    sortBy: 'entry_date_time',
  },
  {
    id: 'manifest',
    title: t('common.manifest'),
    cell: ({ manifest_number }) => manifest_number && <span class="mono">{manifest_number}</span>,
    text: ({ manifest_number }) => manifest_number ?? '',
  },
  {
    id: 'carrier',
    title: t('common.carrier'),
    cell: ({ carrier_name }) => carrier_name,
    text: ({ carrier_name }) => carrier_name ?? '',
    isHidden: true,
  },
  {
    id: 'shipper',
    title: t('officeParcels.shipper'),
    cell: ({ shipper }) => shipper,
    text: ({ shipper }) => shipper ?? '',
    isHidden: true,
  },
  {
    id: 'contents',
    title: t('officeParcels.contents'),
    cell: ({ description }) => description,
    text: ({ description }) => description ?? '',
    isHidden: true,
  },
];
