import { t } from '../../texts/texts.js';
import type { ListAddress } from './address.js';
import { PAGE_SIZE, type ListPage } from './listed.js';

type Props = { data: ListPage<unknown>; of: ListAddress };

/** Leads to the other pages of a list. The list itself scrolls to its top. */
export function Pager({ data: { total, isCut, note, nextBefore }, of: { state, change } }: Props) {
  const open = (changes: Parameters<typeof change>[0]) => {
    change(changes);
    scrollTo({ top: 0 });
  };
  if (total === undefined)
    return (
      <nav class="pager" aria-label={t('list.pages')}>
        {state.before && (
          <button type="button" onClick={() => open({ before: '' })}>
            {t(state.sort ? 'list.first' : 'common.newest')}
          </button>
        )}
        {nextBefore && (
          <button type="button" onClick={() => open({ before: nextBefore })}>
            {t(state.sort ? 'common.next' : 'common.older')}
          </button>
        )}
      </nav>
    );
  const pages = Math.max(1, Math.ceil(total / PAGE_SIZE));
  return (
    <nav class="pager" aria-label={t('list.pages')}>
      <span class="muted" data-testid="list-total">
        {t(isCut ? 'list.totalCut' : 'list.total', { count: total })}
        {note && ` · ${note}`}
      </span>
      {pages > 1 && (
        <>
          <button type="button" disabled={state.page <= 1} onClick={() => open({ page: state.page - 1 })}>
            {t('common.previous')}
          </button>
          <span>{t('common.page', { page: state.page, pages })}</span>
          <button type="button" disabled={state.page >= pages} onClick={() => open({ page: state.page + 1 })}>
            {t('common.next')}
          </button>
        </>
      )}
    </nav>
  );
}
