-- upgrade: rolling
-- reviewed: constraint account_mails.account_mails_kind_is_known added: it accepts all that the one that it replaces accepts.
-- Mails to the owners of a courier whose URL fails (docs/decisions/0144). Servers of the previous release neither read nor write the
-- new columns. Not validated: all rows have older kinds.
-- Of a mail about a URL. The user may belong to another courier when it is sent.
alter table account_mails add column endpoint text, add column courier_id uuid;
alter table account_mails drop constraint account_mails_kind_is_known_check;
alter table account_mails add constraint account_mails_kind_is_known check (kind in ('new_network', 'password_changed',
  'password_reset', 'password_reset_by_admin', 'password_reset_link', 'two_factor_enabled', 'two_factor_disabled',
  'two_factor_reset_by_admin', 'backup_codes_regenerated', 'email_changed', 'courier_redirected', 'webhook_failing',
  'webhook_pausing', 'webhook_paused')) not valid;

-- Of which failures the owners know, and how much of them.
alter table webhook_endpoints add column told_since timestamptz(3), add column told_stage text;
