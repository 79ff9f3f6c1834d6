import { useState } from 'preact/hooks';
import type { AuditEntry } from '../../../../sdk/typescript/src/index.js';
import { api } from '../../session/session.js';
import { dateTime, number, t } from '../../texts/texts.js';
import { useAction } from '../../ui/load.js';
import { Empty, Heading, Problem } from '../../ui/parts.js';
import { officeAddress, openAddress } from '../../ui/router.js';
import type { ListState } from '../list/state.js';
import { DataList } from '../list/data-list.js';
import { PAGE_SIZE, useList } from '../list/listed.js';
import type { ListColumn } from '../list/table.js';
import { FactList, Panel } from '../ui/panel.js';

const columns = (): ListColumn<AuditEntry>[] => [
  { id: 'at', title: t('recent.time'), cell: ({ at }) => dateTime(at), text: ({ at }) => at },
  {
    id: 'actor',
    title: t('audit.actor'),
    cell: ({ actor_name }) => actor_name ?? t('audit.service'),
    text: ({ actor_name }) => actor_name ?? t('audit.service'),
  },
  {
    id: 'action',
    title: t('audit.action'),
    cell: ({ action }) => <span class="mono">{action}</span>,
    text: ({ action }) => action,
  },
  {
    id: 'entity_id',
    title: t('audit.record'),
    cell: ({ entity_id }) => <span class="mono">{entity_id}</span>,
    text: ({ entity_id }) => entity_id,
  },
  {
    id: 'change',
    title: t('audit.fields'),
    cell: ({ before, after }) => fieldsOf(before, after).join(', '),
    text: ({ before, after }) => fieldsOf(before, after).join(', '),
  },
  {
    id: 'remarks',
    title: t('audit.remarks'),
    cell: (entry) => remarkOf(entry),
    text: (entry) => remarkOf(entry),
    isHidden: true,
  },
  {
    id: 'request',
    title: t('audit.request'),
    cell: ({ request_id }) => <span class="mono">{request_id}</span>,
    text: ({ request_id }) => request_id,
    isHidden: true,
  },
  {
    id: 'sequence',
    title: t('audit.sequence'),
    cell: ({ sequence }) => sequence !== null && number(sequence),
    text: ({ sequence }) => sequence ?? '',
    isNumber: true,
    isHidden: true,
  },
];

type Fields = Record<string, unknown> | null;

const fieldsOf = (before: Fields, after: Fields): string[] => [
  ...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]),
];

/** What a person wrote about the change. */
const remarkOf = ({ remarks }: AuditEntry): string => remarks ?? '';

/** The filters of the list, which have the names of the service. */
const NAMES = [
  'actor_kind',
  'actor_id',
  'entity',
  'entity_id',
  'action',
  'request_id',
  'from',
  'to',
] as const;

type Filters = NonNullable<Parameters<ReturnType<typeof api>['audit']['list']>[0]>;

async function load({ filters, before }: ListState, signal: AbortSignal) {
  const chosen = Object.fromEntries(
    NAMES.map((name) => [name, filters[name]]).filter(([, value]) => value !== undefined && value !== ''),
  ) as Pick<Filters, (typeof NAMES)[number]>;
  const { data, meta } = await api().audit.list(
    { limit: PAGE_SIZE, ...chosen, day_zone: 'tenant', ...(before ? { before } : {}) },
    { signal },
  );
  return { rows: data, nextBefore: meta.next_before };
}

/** Who has changed what. Only administrators may see it. */
export function AuditPage() {
  const list = useList('audit', load);
  const { address, loaded } = list;
  const id = officeAddress.value?.argument;
  const entry = loaded.data?.rows.find(({ audit_id }) => audit_id === id);
  return (
    <>
      <Heading title={t('audit.title')}>
        <Verify />
      </Heading>
      <DataList
        page="audit"
        title={t('audit.title')}
        of={list}
        columns={columns()}
        keyOf={({ audit_id }) => audit_id}
        nameOf={({ action }) => action}
        onOpen={({ audit_id }) => openAddress(address.linkTo(audit_id))}
        isOpen={({ audit_id }) => audit_id === id}
        filters={[
          {
            name: 'actor_kind',
            label: t('audit.actor'),
            options: [
              ['user', t('audit.user')],
              ['api_key', t('audit.key')],
              ['system', t('audit.service')],
            ],
          },
          { name: 'action', label: t('audit.action'), type: 'text' },
          { name: 'entity', label: t('audit.kind'), type: 'text' },
          { name: 'entity_id', label: t('audit.record'), type: 'text' },
          { name: 'actor_id', label: t('audit.actorId'), type: 'chip' },
          { name: 'request_id', label: t('audit.request'), type: 'chip' },
          { name: 'from', label: t('office.from'), type: 'date' },
          { name: 'to', label: t('office.to'), type: 'date' },
        ]}
        empty={{ title: t('audit.none'), hint: t('audit.noneHint') }}
        panel={
          id && (
            <Panel title={entry?.action ?? t('audit.entry')} closeLink={address.linkTo()}>
              {entry ? (
                <Entry entry={entry} historyLink={(filters) => address.change({ filters })} />
              ) : (
                loaded.data && <Empty title={t('audit.elsewhere')}>{t('audit.elsewhereHint')}</Empty>
              )}
            </Panel>
          )
        }
      />
    </>
  );
}

type EntryProps = { entry: AuditEntry; historyLink: (filters: Record<string, string>) => void };

function Entry({ entry, historyLink }: EntryProps) {
  const { before, after, entity, entity_id, actor_id, actor_name, request_id, sequence, hash } = entry;
  return (
    <div class="stack">
      <FactList
        facts={[
          [t('recent.time'), dateTime(entry.at)],
          [t('audit.actor'), actor_name ?? t('audit.service')],
          [t('audit.kind'), entity],
          [
            t('audit.record'),
            <span key="id" class="mono break">
              {entity_id}
            </span>,
          ],
          [t('audit.remarks'), remarkOf(entry)],
          [
            t('audit.request'),
            <span key="request" class="mono break">
              {request_id}
            </span>,
          ],
          [t('audit.sequence'), sequence !== null && number(sequence)],
          [
            t('audit.hash'),
            hash && (
              <span key="hash" class="mono break">
                {hash}
              </span>
            ),
          ],
        ]}
      />
      <table class="changes">
        <caption class="unseen">{t('audit.fields')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('audit.field')}</th>
            <th scope="col">{t('audit.before')}</th>
            <th scope="col">{t('audit.after')}</th>
          </tr>
        </thead>
        <tbody>
          {fieldsOf(before, after).map((name) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="break">{valueText(before?.[name])}</td>
              <td class="break">{valueText(after?.[name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="actions">
        <button type="button" onClick={() => historyLink({ entity, entity_id })}>
          {t('audit.ofRecord')}
        </button>
        {actor_id && (
          <button type="button" onClick={() => historyLink({ actor_id })}>
            {t('audit.ofActor')}
          </button>
        )}
        <button type="button" onClick={() => historyLink({ request_id })}>
          {t('audit.ofRequest')}
        </button>
      </div>
    </div>
  );
}

const valueText = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** Checks the hash chain from its beginning, part by part, and says what was found. */
function Verify() {
  const [result, setResult] = useState<{ isIntact: boolean; count: number; altered: number | null }>();
  const verify = useAction(async () => {
    setResult(undefined);
    let after: number | null = 0;
    let count = 0;
    while (after !== null) {
      const part = { action: 'verify' as const, ...(after > 0 ? { after } : {}) };
      const { data }: Awaited<ReturnType<ReturnType<typeof api>['audit']['verify']>> =
        await api().audit.verify(part);
      count += data.verified;
      if (!data.intact) {
        setResult({ isIntact: false, count, altered: data.first_altered?.sequence ?? null });
        return;
      }
      after = data.next_after;
    }
    setResult({ isIntact: true, count, altered: null });
  });
  return (
    <>
      <Problem text={verify.error} />
      <span role="status" data-testid="verified">
        {verify.isBusy && t('audit.verifying')}
        {result?.isIntact && <span class="success">{t('audit.intact', { count: result.count })}</span>}
        {result && !result.isIntact && (
          <span class="problem">{t('audit.altered', { at: result.altered ?? '–' })}</span>
        )}
      </span>
      <button type="button" disabled={verify.isBusy} onClick={() => verify.run()}>
        {t('audit.verify')}
      </button>
    </>
  );
}
