import { useState } from 'preact/hooks';
import { api } from '../../../../session/session.js';
import { dateTime, t, textOf } from '../../../../texts/texts.js';
import { namesOf, shown, type Fields } from '../../../../ui/data/changed-fields.js';
import { useLoad } from '../../../../ui/load.js';
import { Content, Table } from '../../../../ui/parts.js';
import { officeLink } from '../../../../ui/router.js';

/** The changes of a page. */
const MOST = 50;

type Props = {
  packageId: string;
  round: number;
  /** Whether the person may read the audit log, which has more of it. */
  hasAudit: boolean;
};

/** The changes of a parcel: who changed which field, and from what to what. */
export function Changes({ packageId, round, hasAudit }: Props) {
  const [before, setBefore] = useState<string>();
  const changes = useLoad(
    (signal) =>
      api().packages.listChanges(
        { package_id: packageId, limit: MOST, ...(before ? { before } : {}) },
        { signal },
      ),
    [packageId, round, before],
  );
  return (
    <Content of={changes}>
      {({ data: rows, meta }) => (
        <>
          {rows.length === 0 ? (
            <p class="muted">{t('parcel.noAudit')}</p>
          ) : (
            <Table
              caption={t('parcel.audit')}
              rows={rows}
              keyOf={({ change_id }) => change_id}
              columns={[
                { title: t('recent.time'), cell: ({ at }) => dateTime(at) },
                { title: t('audit.actor'), cell: ({ changed_by }) => changed_by ?? t('audit.service') },
                { title: t('audit.action'), cell: ({ action }) => textOf('change', action) },
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
          )}
          {meta.next_before && (
            <button type="button" onClick={() => setBefore(meta.next_before ?? undefined)}>
              {t('common.older')}
            </button>
          )}
          {hasAudit && (
            <p>
              <a href={officeLink('audit', { entity_id: packageId })}>{t('audit.ofRecord')}</a>
            </p>
          )}
        </>
      )}
    </Content>
  );
}

const changesOf = (before: Fields, after: Fields): string[] =>
  namesOf(before, after).map(
    (name) =>
      `${textOf('parcelField', name.replace(/_(?:lb|in)$/, ''), name)}: ${shown(before?.[name])} → ${shown(after?.[name])}`,
  );
