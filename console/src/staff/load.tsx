import { useEffect, useRef, useState } from 'preact/hooks';
import type {
  LoadingCounts,
  LoadingParcel,
  ManifestLoading,
  ManifestSummary,
} from '../../../sdk/typescript/src/index.js';
import { AddToFlight } from '../flights/add-to-flight.js';
import { UnloadingBanner, useUnloading } from '../flights/unloading.js';
import { addScan } from '../queue/add.js';
import { expectAnswer } from '../queue/answers.js';
import { RecentScans } from '../queue/recent.js';
import { onSettled } from '../queue/store.js';
import { isWeightText } from '../scanner/scale.js';
import type { Scan } from '../scanner/scanner.js';
import { api, messageOf } from '../session/session.js';
import { date, number, pounds, t, textOf } from '../texts/texts.js';
import { showScale, useScans } from '../ui/keys.js';
import { useLoad } from '../ui/load.js';
import { outcome, OutcomeBanner, show } from '../ui/outcome.js';
import { Content, Empty, Heading, Table, Tag } from '../ui/parts.js';
import { goTo, isId, linkTo, route } from '../ui/router.js';
import { NumberField } from './number-field.js';
import { Code } from '../ui/code.js';

export function LoadPage() {
  const { argument } = route.value;
  return argument && isId(argument) ? <Loading key={argument} manifestId={argument} /> : <ReadyManifests />;
}

function ReadyManifests() {
  const manifests = useLoad(
    async (signal) => (await api().manifests.list({ status: 'ready', limit: 100 }, { signal })).data,
    [],
  );
  useScans(({ text }) => void openScanned(text));
  return (
    <div class="station">
      <Heading title={t('load.title')} />
      <OutcomeBanner idle={t('load.choose')} />
      <Content of={manifests}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t('load.none')}>
              <a href={linkTo('manifests')}>{t('load.noneHint')}</a>
            </Empty>
          ) : (
            <ul class="choices">
              {rows.map((manifest) => (
                <ManifestChoice key={manifest.manifest_id} manifest={manifest} />
              ))}
            </ul>
          )
        }
      </Content>
    </div>
  );
}

const ManifestChoice = ({ manifest }: { manifest: ManifestSummary }) => (
  <li>
    <a class="choice" href={linkTo('load', manifest.manifest_id)}>
      <span class="mono strong">{manifest.manifest_number}</span>
      <span>
        {[manifest.flight_number, manifest.flight_date && date(manifest.flight_date)]
          .filter(Boolean)
          .join(' · ')}
      </span>
      <span class="muted">
        {t('load.packages', { count: manifest.packages })} · {pounds(manifest.weight_lb)}
      </span>
    </a>
  </li>
);

/** The sheet of a flight has the manifest's number as a barcode. */
async function openScanned(scan: string): Promise<void> {
  try {
    const { data } = await api().packages.resolveScan({ scan });
    const [manifest] = data.matches.manifests;
    if (manifest?.status === 'ready') goTo('load', manifest.manifest_id);
    else if (manifest)
      show('bad', t('word.flightClosed'), t('load.notReady', { manifest: manifest.manifest_number }));
    else show('warn', t('word.chooseFlight'), t('load.choose'));
  } catch (error) {
    show('bad', t('word.refused'), messageOf(error));
  }
}

const LISTS = ['missing', 'extra', 'loaded'] as const;
type List = (typeof LISTS)[number];

function Loading({ manifestId }: { manifestId: string }) {
  const [list, setList] = useState<List>('missing');
  const unloading = useUnloading(manifestId);
  const [missingHere, setMissingHere] = useState<string>();
  const loading = useLoad(
    async (signal) =>
      (await api().manifests.loading({ manifest_id: manifestId, list, limit: 100 }, { signal })).data,
    [manifestId, list],
  );
  const reload = useRef(loading.reload);
  reload.current = loading.reload;
  useEffect(
    () =>
      onSettled(({ scan, result }) => {
        if (!isOf(manifestId, scan.request)) return;
        reload.current();
        setMissingHere(result.reason === 'not_assigned' ? scan.request.scan : undefined);
      }),
    [],
  );
  /** What the last scan did. The same code with another intention is no repetition. */
  const lastKind = useRef<'load' | 'unload'>('load');
  const mark = async (
    { text, isAgain }: Scan,
    kind: 'load' | 'unload' = unloading.isOn ? 'unload' : 'load',
  ) => {
    if (isWeightText(text)) {
      showScale(text);
      return;
    }
    if (isAgain && kind === lastKind.current) {
      show('wait', t('word.again'), text, text);
      return;
    }
    lastKind.current = kind;
    try {
      const queued = await addScan({ kind, scan: text, manifest_id: manifestId });
      expectAnswer(queued.scan_id);
      show('wait', t('word.saved'), text, text);
    } catch (error) {
      show('bad', t('word.notSaved'), messageOf(error));
    }
  };
  useScans((scan) => void mark(scan));
  return (
    <div class="station">
      <Heading title={loading.data?.manifest_number ?? t('load.title')}>
        <a class="button" href={linkTo('load')}>
          {t('load.other')}
        </a>
        <a class="button" href={linkTo('manifests', manifestId)}>
          {t('load.manifest')}
        </a>
      </Heading>
      {unloading.isOn && <UnloadingBanner onEnd={unloading.end} />}
      <OutcomeBanner idle={t(unloading.isOn ? 'load.idleOff' : 'load.idle')} />
      {missingHere && outcome.value?.subject === missingHere && (
        <AddToFlight
          scan={missingHere}
          manifestId={manifestId}
          onAdded={() => {
            setMissingHere(undefined);
            reload.current();
          }}
          onTakeOff={() => void mark({ text: missingHere, isAgain: false }, 'unload')}
        />
      )}
      <Content of={loading}>{(data) => <Counts counts={data.counts} />}</Content>
      <div class="card stack" data-search data-takes-keys>
        <NumberField onNumber={(text) => void mark({ text, isAgain: false })} />
        <div class="actions">
          <button
            type="button"
            aria-pressed={unloading.isOn}
            onClick={unloading.isOn ? unloading.end : unloading.begin}
          >
            {t('load.takeOff')}
          </button>
        </div>
      </div>
      {loading.data && <LoadingLists data={loading.data} list={list} onList={setList} />}
      <section class="section">
        <h2>{t('recent.title')}</h2>
        <RecentScans kinds={['load', 'unload']} caption={t('recent.title')} />
      </section>
    </div>
  );
}

const isOf = (manifestId: string, request: object) =>
  'manifest_id' in request && request.manifest_id === manifestId;

function Counts({ counts }: { counts: LoadingCounts }) {
  const share = counts.expected === 0 ? 0 : (counts.loaded / counts.expected) * 100;
  return (
    <div class="counts">
      <dl class="figures">
        {(['expected', 'loaded', 'missing', 'extra'] as const).map((name) => (
          <div key={name} class={name === 'extra' && counts.extra > 0 ? 'figure figure-bad' : 'figure'}>
            <dt>{t(`load.${name}`)}</dt>
            <dd data-testid={`count-${name}`}>{number(counts[name])}</dd>
          </div>
        ))}
      </dl>
      <svg class="meter" viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true">
        <rect class="meter-track" width="100" height="2" />
        <rect class="meter-value" width={share} height="2" />
      </svg>
      {counts.missing === 0 && counts.extra === 0 && counts.expected > 0 && (
        <p class="all-done">{t('load.complete')}</p>
      )}
    </div>
  );
}

function LoadingLists({
  data,
  list,
  onList,
}: {
  data: ManifestLoading;
  list: List;
  onList: (list: List) => void;
}) {
  return (
    <section class="section">
      <div class="segments" role="group" aria-label={t('load.lists')}>
        {LISTS.map((name) => (
          <button key={name} type="button" aria-pressed={name === list} onClick={() => onList(name)}>
            {t(`load.${name}`)} <span class="muted">{number(data.counts[name])}</span>
          </button>
        ))}
      </div>
      {data.parcels.length === 0 ? (
        <Empty title={t(`load.${list}None`)} />
      ) : (
        <ParcelTable parcels={data.parcels} caption={t(`load.${list}`)} isExtra={list === 'extra'} />
      )}
    </section>
  );
}

function ParcelTable({
  parcels,
  caption,
  isExtra,
}: {
  parcels: LoadingParcel[];
  caption: string;
  isExtra: boolean;
}) {
  return (
    <Table
      caption={caption}
      rows={parcels}
      keyOf={(parcel) => parcel.package_id ?? parcel.tracking_number}
      columns={[
        {
          title: t('common.house'),
          cell: (parcel) => <Code text={parcel.house_number} isStrong />,
        },
        { title: t('common.number'), cell: (parcel) => <Code text={parcel.tracking_number} /> },
        { title: t('load.place'), cell: (parcel) => parcel.location ?? '' },
        {
          title: t('common.owner'),
          isExtra: true,
          cell: (parcel) => [parcel.user_code, parcel.courier_name].filter(Boolean).join(' · '),
        },
        ...(isExtra
          ? [
              {
                title: t('load.why'),
                cell: ({ reason, manifest_number }: LoadingParcel) => (
                  <Tag tint="bad">
                    {textOf('extra', reason ?? '', reason ?? '', { manifest: manifest_number ?? '' })}
                  </Tag>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}
