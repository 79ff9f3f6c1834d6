-- upgrade: rolling
-- The present user code of a renamed customer, until the worker has written it to the pre-alerts, also after the customer was deleted
-- (docs/decisions/0103). The previous release stores no rows here: it writes all pre-alerts with the rename.
alter table prealert_renames add column new_user_code text;
