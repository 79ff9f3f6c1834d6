import type { ListName } from '../../preferences/choices.js';
import type { ComponentChildren } from 'preact';
import type { ApiCall } from '../../../../sdk/typescript/src/index.js';
import { DataList } from '../../office/list/data-list.js';
import type { Listed, ListPage } from '../../office/list/listed.js';
import { PAGE_SIZE } from '../../office/list/listed.js';
import type { ListState } from '../../office/list/state.js';
import { FactList, Panel } from '../../office/ui/panel.js';
import { api } from '../../session/session.js';
import { addTextsOnUse, dateTime, number, t, textOf } from '../../texts/texts.js';
import { Empty } from '../../ui/parts.js';
import { openAddress } from '../../ui/router.js';
import { callColumns, credentialOf, parcelsOf, ResultTag } from './columns.js';
import { callsEn } from './texts-en.js';

/** Loads the texts of the log. Called before it is shown. */
export const loadCallsTexts = (): Promise<void> =>
  addTextsOnUse(callsEn, async () => (await import('./texts-es.js')).callsEs);

type Kept = { days: number; percent: number; leftOut: number };
export type CallPage = ListPage<ApiCall> & { kept: Kept };

/** The filters that have the names of the service. */
const NAMES = ['request_id', 'parcel', 'code', 'operation', 'status_class', 'credential'] as const;
const HOUR_MS = 3_600_000;
const AGES: Record<string, number> = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS };

type Query = NonNullable<Parameters<ReturnType<typeof api>['webhooks']['listApiCalls']>[0]>;

/** Returns the function that loads a page of the log. @param courierId the courier, for staff */
export const loadCalls =
  (courierId?: string) =>
  async ({ filters, before }: ListState, signal: AbortSignal): Promise<CallPage> => {
    const chosen = Object.fromEntries(
      NAMES.map((name) => [name, filters[name]?.trim()]).filter(([, value]) => value),
    ) as Pick<Query, (typeof NAMES)[number]>;
    const age = AGES[filters['age'] ?? ''];
    const since = age && new Date(Date.now() - age).toISOString().slice(0, 19).replace('T', ' ');
    const { data, meta } = await api().webhooks.listApiCalls(
      {
        limit: PAGE_SIZE,
        ...chosen,
        ...(courierId ? { courier_id: courierId } : {}),
        ...(since ? { since } : {}),
        ...(before ? { before } : {}),
      },
      { signal },
    );
    const kept = { days: meta.kept_days, percent: meta.kept_percent, leftOut: meta.left_out_today };
    return { rows: data, nextBefore: meta.next_before, kept };
  };

type Props = {
  page: ListName;
  of: Listed<ApiCall>;
  /** The request id of the call that is open beside the list. */
  shown: string | undefined;
  lead: string;
};

/** The log of calls: filters, pages, and a call beside the list. */
export function CallList({ page, of, shown, lead }: Props) {
  const { address, loaded } = of;
  // The function above has loaded it.
  const data = loaded.data as CallPage | undefined;
  const call = data?.rows.find(({ request_id }) => request_id === shown);
  return (
    <>
      <p class="lead">
        {lead} {data && <KeptText of={data.kept} />} <a href="/docs/failed-calls">{t('calls.why')}</a>
      </p>
      {data && data.kept.leftOut > 0 && (
        <p class="notice">{t('calls.leftOut', { count: number(data.kept.leftOut) })}</p>
      )}
      <DataList
        page={page}
        title={t('calls.title')}
        of={of}
        columns={callColumns()}
        keyOf={({ request_id }) => request_id}
        nameOf={({ operation, called_at }) => `${operation}, ${dateTime(called_at)}`}
        onOpen={({ request_id }) => openAddress(address.linkTo(request_id))}
        isOpen={({ request_id }) => request_id === shown}
        filters={filters()}
        empty={{ title: t('calls.none'), hint: t('calls.noneHint') }}
        panel={
          shown && (
            <Panel title={call?.operation ?? t('calls.request')} closeLink={address.linkTo()}>
              {call ? (
                <Facts of={call} />
              ) : (
                data && (
                  <Empty title={t('calls.elsewhere')}>
                    <span class="mono break">{shown}</span>
                  </Empty>
                )
              )}
            </Panel>
          )
        }
      />
    </>
  );
}

function KeptText({ of: { days, percent } }: { of: Kept }) {
  if (days === 0) return <>{t('calls.off')}</>;
  return (
    <>
      {t('calls.kept', { days })} {percent < 100 && t('calls.sampled', { percent })}
    </>
  );
}

const filters = () => [
  {
    name: 'status_class',
    label: t('calls.result'),
    options: (['2xx', '4xx', '5xx', 'aborted'] as const).map((each): [string, string] => [
      each,
      t(`callClass.${each}`),
    ]),
  },
  {
    name: 'age',
    label: t('calls.since'),
    options: (['hour', 'day', 'week'] as const).map((each): [string, string] => [each, t(`calls.${each}`)]),
  },
  { name: 'parcel', label: t('calls.parcel'), type: 'text' as const },
  { name: 'code', label: t('calls.code'), type: 'text' as const },
  { name: 'request_id', label: t('calls.request'), type: 'text' as const, isMore: true },
  { name: 'operation', label: t('calls.operation'), type: 'text' as const, isMore: true },
  {
    name: 'credential',
    label: t('calls.credential'),
    isMore: true,
    options: (['api_key', 'service_token', 'access_token'] as const).map((each): [string, string] => [
      each,
      textOf('callCredential', each),
    ]),
  },
];

/** The row, the field and the reason. */
const refusedText = ({ row, field, code }: ApiCall['refused'][number]): string =>
  `${row === undefined ? '' : `${t('calls.row', { row })} `}${field} (${code})`;

const mono = (text: string): ComponentChildren => <span class="mono break">{text}</span>;

function Facts({ of: call }: { of: ApiCall }) {
  const {
    code,
    refused,
    method,
    path,
    credential_name: name,
    credential_hint: hint,
    parcels,
    parcel_count,
  } = call;
  const more = parcel_count - parcels.length;
  return (
    <div class="stack">
      <FactList
        facts={[
          [t('calls.at'), dateTime(call.called_at)],
          [t('calls.result'), <ResultTag key="result" of={call} />],
          [t('calls.code'), code && mono(code)],
          [t('calls.refused'), refused.length > 0 && mono(refused.map(refusedText).join(', '))],
          [t('calls.path'), path && mono(`${method ?? ''} ${path}`)],
          [t('calls.duration'), t('calls.took', { ms: call.duration_ms })],
          [
            t('calls.credential'),
            `${credentialOf(call)}${name && hint ? `, ${t('calls.ending', { hint })}` : ''}`,
          ],
          [t('calls.replayedFact'), call.is_replayed && t('calls.replayed')],
          [t('calls.parcels'), parcels.length > 0 && mono(more > 0 ? parcelsOf(call) : parcels.join(', '))],
          [t('calls.request'), mono(call.request_id)],
        ]}
      />
      {code && (
        <p>
          <a href={`/docs/errors#${code}`} target="_blank" rel="noreferrer">
            {t('calls.meaning')}
          </a>
        </p>
      )}
    </div>
  );
}
