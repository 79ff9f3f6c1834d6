-- upgrade: rolling
-- Owners of a courier manage its other users. Every user that a courier has, and every one that a release before this one creates, is an
-- owner, so nobody loses a right. The value of the staff has no meaning (docs/decisions/0128).
alter table users add column is_courier_owner boolean not null default true;
