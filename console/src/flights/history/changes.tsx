import { useState } from 'preact/hooks';
import type { ManifestChange, ManifestDetail } from '../../../../sdk/typescript/src/index.js';
import { PackageLink } from '../../find/record-links.js';
import { api } from '../../session/session.js';
import { date, dateTime, t, textOf } from '../../texts/texts.js';
import { namesOf, shown, type Fields } from '../../ui/data/changed-fields.js';
import { useLoad } from '../../ui/load.js';
import { Content, Table } from '../../ui/parts.js';

/** The changes of a page. */
const MOST = 50;

/** Who has changed the manifest and its packages, newest first. */
export function Changes({ detail }: { detail: ManifestDetail }) {
  const { manifest_id } = detail.info;
  const [before, setBefore] = useState<string>();
  const changes = useLoad(
    (signal) =>
      api().manifests.listChanges({ manifest_id, limit: MOST, ...(before ? { before } : {}) }, { signal }),
    [detail, before],
  );
  return (
    <Content of={changes}>
      {({ data, meta: { next_before: next } }) => (
        <>
          <Table
            caption={t('history.changes')}
            rows={data}
            keyOf={({ change_id }) => change_id}
            columns={[
              { title: t('recent.time'), cell: ({ at }) => dateTime(at) },
              { title: t('history.who'), cell: ({ changed_by }) => changed_by ?? t('history.service') },
              { title: t('history.what'), cell: ({ action }) => textOf('manifestChange', action) },
              { title: t('history.details'), cell: Details },
            ]}
          />
          {(before || next) && (
            <div class="actions">
              {before && (
                <button type="button" onClick={() => setBefore(undefined)}>
                  {t('common.newest')}
                </button>
              )}
              {next && (
                <button type="button" onClick={() => setBefore(next)}>
                  {t('common.older')}
                </button>
              )}
            </div>
          )}
        </>
      )}
    </Content>
  );
}

const Details = ({ before, after, packages, house_numbers: numbers, remarks }: ManifestChange) => (
  <>
    {packages > 0 && (
      <p>
        {t('history.packages', { count: packages })}
        {numbers.map((number) => (
          <span key={number}>
            {' '}
            <PackageLink number={number} />
          </span>
        ))}
        {packages > numbers.length && ` ${t('history.more', { count: packages - numbers.length })}`}
      </p>
    )}
    <ul>
      {differencesOf(before, after).map((difference) => (
        <li key={difference}>{difference}</li>
      ))}
    </ul>
    {remarks && <p class="muted">{remarks}</p>}
  </>
);

/** Fields that say nothing to people, or that the page has anyway. */
const HIDDEN = new Set(['warehouse_id', 'manifest_number']);

const differencesOf = (before: Fields, after: Fields): string[] =>
  namesOf(before, after)
    .filter((name) => !HIDDEN.has(name) && (isSet(before?.[name]) || isSet(after?.[name])))
    .map((name) => {
      const [from, to] = [valueOf(name, before?.[name]), valueOf(name, after?.[name])];
      return `${textOf('manifestField', name)}: ${isSet(before?.[name]) ? `${from} → ${to}` : to}`;
    });

const isSet = (value: unknown) => value !== undefined && value !== null && value !== '';

function valueOf(name: string, value: unknown): string {
  if (!isSet(value)) return shown(null);
  const text = shown(value);
  if (name === 'status') return textOf('manifest', text);
  if (name === 'loading_gate') return textOf('gateOf', text);
  return name === 'flight_date' && /^\d{4}-\d\d-\d\d$/.test(text) ? date(text) : text;
}
