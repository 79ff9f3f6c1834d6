import { api } from '../../../../session/session.js';
import { dateTime, t } from '../../../../texts/texts.js';
import { useLoad } from '../../../../ui/load.js';
import { Content, Table } from '../../../../ui/parts.js';
import { officeLink } from '../../../../ui/router.js';

const MOST = 50;

type Fields = Record<string, unknown> | null;

/** The entries of the audit log about a parcel: who changed which field, and from what to what. For administrators. */
export function Changes({ packageId, round }: { packageId: string; round: number }) {
  const entries = useLoad(
    async (signal) => (await api().audit.list({ entity_id: packageId, limit: MOST }, { signal })).data,
    [packageId, round],
  );
  return (
    <Content of={entries}>
      {(rows) =>
        rows.length === 0 ? (
          <p class="muted">{t('parcel.noAudit')}</p>
        ) : (
          <>
            <Table
              caption={t('parcel.audit')}
              rows={rows}
              keyOf={({ audit_id }) => audit_id}
              columns={[
                { title: t('recent.time'), cell: ({ at }) => dateTime(at) },
                { title: t('audit.actor'), cell: ({ actor_name }) => actor_name ?? t('audit.service') },
                { title: t('audit.action'), cell: ({ action }) => <span class="mono">{action}</span> },
                {
                  title: t('audit.fields'),
                  cell: ({ before, after }) => (
                    <ul>
                      {changesOf(before, after).map((change) => (
                        <li key={change}>{change}</li>
                      ))}
                    </ul>
                  ),
                },
              ]}
            />
            <p>
              <a href={officeLink('audit', { entity_id: packageId })}>{t('audit.ofRecord')}</a>
            </p>
          </>
        )
      }
    </Content>
  );
}

function changesOf(before: Fields, after: Fields): string[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names.map((name) => `${name}: ${valueOf(before?.[name])} → ${valueOf(after?.[name])}`);
}

const valueOf = (value: unknown): string =>
  value === undefined || value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
