import type { PackageRecord } from '../../../../../sdk/typescript/src/index.js';
import { dateTime, pounds, t, textOf } from '../../../texts/texts.js';
import { Code } from '../../../ui/code.js';
import { StatusTag } from '../../../ui/status.js';
import type { ListColumn } from '../../list/table.js';

const nameOf = ({ first_name, last_name }: PackageRecord) =>
  [first_name, last_name].filter(Boolean).join(' ');

type Column = ListColumn<PackageRecord>;

/** The columns of lists of parcels. @param linkOf returns the address of a parcel by its house number */
export const parcelColumns = (linkOf: (houseNumber: string) => string) =>
  ({
    house_number: {
      id: 'house_number',
      title: t('common.house'),
      cell: ({ house_number }) => (
        <a class="mono strong" href={linkOf(house_number)}>
          {house_number}
        </a>
      ),
      text: ({ house_number }) => house_number,
      sortBy: 'house_number',
    },
    status: {
      id: 'status',
      title: t('common.status'),
      cell: ({ status }) => <StatusTag status={status} />,
      text: ({ status }) => textOf('status', status),
    },
    tracking_number: {
      id: 'tracking_number',
      title: t('common.number'),
      cell: ({ tracking_number }) => <Code text={tracking_number} />,
      text: ({ tracking_number }) => tracking_number,
    },
    user_code: {
      id: 'user_code',
      title: t('common.customer'),
      cell: (row: PackageRecord) => [row.user_code, nameOf(row)].filter(Boolean).join(' · '),
      text: (row: PackageRecord) => [row.user_code, nameOf(row)].filter(Boolean).join(' · '),
      sortBy: 'user_code',
    },
    courier: {
      id: 'courier',
      title: t('common.courier'),
      cell: ({ courier_name }) => courier_name,
      text: ({ courier_name }) => courier_name ?? '',
    },
    weight: {
      id: 'weight',
      title: t('common.weight'),
      cell: ({ weight }) => pounds(weight),
      text: ({ weight }) => weight,
      sortBy: 'weight',
      isNumber: true,
    },
    entry_date_time: {
      id: 'entry_date_time',
      title: t('common.receivedAt'),
      cell: ({ entry_date_time }) => dateTime(entry_date_time),
      text: ({ entry_date_time }) => entry_date_time,
      sortBy: 'entry_date_time',
    },
    manifest: {
      id: 'manifest',
      title: t('common.manifest'),
      cell: ({ manifest_number }) => manifest_number && <span class="mono">{manifest_number}</span>,
      text: ({ manifest_number }) => manifest_number ?? '',
    },
    carrier: {
      id: 'carrier',
      title: t('common.carrier'),
      cell: ({ carrier_name }) => carrier_name,
      text: ({ carrier_name }) => carrier_name ?? '',
      isHidden: true,
    },
    shipper: {
      id: 'shipper',
      title: t('officeParcels.shipper'),
      cell: ({ shipper }) => shipper,
      text: ({ shipper }) => shipper ?? '',
      isHidden: true,
    },
    contents: {
      id: 'contents',
      title: t('officeParcels.contents'),
      cell: ({ description }) => description,
      text: ({ description }) => description ?? '',
      isHidden: true,
    },
  }) satisfies Record<string, Column>;
