import type { ListStationsResponse } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { addTexts, dateTime, number, t } from '../../../texts/texts.js';
import { Tag } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import type { ListState } from '../../list/state.js';
import type { ListColumn } from '../../list/table.js';
import { StationPanel } from './station-panel.js';
import { stationsTexts } from './stations-texts.js';

addTexts(stationsTexts);

type Station = ListStationsResponse['data'][number];

const columns = (): ListColumn<Station>[] => [
  {
    id: 'station',
    title: t('office.station'),
    cell: ({ station }) => (
      <a class="strong" href={officeLink(['settings', 'stations'], { of: station })}>
        {station}
      </a>
    ),
    text: ({ station }) => station,
  },
  {
    id: 'scan',
    title: t('stations.lastScan'),
    cell: ({ last_scan_at }) => (last_scan_at ? dateTime(last_scan_at) : '—'),
    text: ({ last_scan_at }) => last_scan_at ?? '',
  },
  {
    id: 'by',
    title: t('stations.by'),
    cell: ({ last_scan_by }) => last_scan_by ?? '—',
    text: ({ last_scan_by }) => last_scan_by ?? '',
  },
  {
    id: 'printer',
    title: t('stations.printer'),
    cell: (station) => <PrinterTag station={station} />,
    text: (station) => t(printerOf(station)),
  },
  {
    id: 'waiting',
    title: t('stations.waiting'),
    cell: ({ waiting_labels }) => number(waiting_labels),
    text: ({ waiting_labels }) => waiting_labels,
    isNumber: true,
  },
  {
    id: 'failed',
    title: t('stations.failed'),
    cell: ({ failed_labels }) => number(failed_labels),
    text: ({ failed_labels }) => failed_labels,
    isNumber: true,
  },
];

const printerOf = ({ has_bridge, bridge_seen_at }: Station) => {
  if (has_bridge) return 'stations.connected';
  return bridge_seen_at ? 'stations.gone' : 'stations.noPrinter';
};

const PrinterTag = ({ station }: { station: Station }) => (
  <Tag tint={station.has_bridge ? 'good' : station.bridge_seen_at ? 'bad' : 'plain'}>
    {t(printerOf(station))}
  </Tag>
);

async function load({ page }: ListState, signal: AbortSignal) {
  const { data, meta } = await api().packages.listStations({ page, limit: PAGE_SIZE }, { signal });
  return { rows: data, total: meta.total_records };
}

/** The stations, their printers and the labels that wait. A station opens beside the list with its labels. */
export function StationsTab() {
  const list = useList('settings', load);
  const { address, loaded } = list;
  const name = officeAddress.value?.query.get('of');
  return (
    <>
      <p class="muted">{t('stations.hint')}</p>
      <DataList
        page="settings/stations"
        title={t('settingsTab.stations')}
        of={list}
        columns={columns()}
        keyOf={({ station }) => station}
        nameOf={({ station }) => station}
        onOpen={({ station }) => openAddress(address.linkTo('stations', { of: station }))}
        isOpen={({ station }) => station === name}
        empty={{ title: t('stations.none'), hint: t('stations.noneHint') }}
        panel={
          name && (
            <StationPanel
              key={name}
              station={name}
              closeLink={address.linkTo('stations')}
              onChanged={loaded.reload}
            />
          )
        }
      />
    </>
  );
}
