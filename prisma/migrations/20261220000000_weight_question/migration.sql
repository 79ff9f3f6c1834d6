-- upgrade: rolling
-- The weight in lb above which stations ask before they store a parcel (docs/decisions/0079).
alter table warehouses add column weight_question_lb integer not null default 150;
