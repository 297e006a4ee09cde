-- One row per operator and service_date with other rows in core or marts. A date has the input that differs as its cause;
-- where it is not known of one input, and no other one differs, it is that one. {thresholds}: the columns to compare.
create table dates as
with rulesets as (
    select 'before' as side, ruleset_version, hash({thresholds}) as digest from before.core.rulesets
    union all
    select 'after' as side, ruleset_version, hash({thresholds}) as digest from after.core.rulesets
),

files as (
    select
        earlier.fingerprint = later.fingerprint as has_same_models,
        earlier.rulesets = later.rulesets as has_same_rulesets
    from before.quality.publication as earlier
    cross join after.quality.publication as later
),

differing as (
    select operator, day, sum(n_added + n_removed + n_changed) as n_rows
    from differing_rows
    where table_name like 'core.%' or table_name like 'marts.%'
    group by operator, day
),

inputs as (
    select
        operator,
        service_date,
        case
            when earlier.service_date is null then 'added'
            when later.service_date is null then 'removed'
            else 'changed'
        end as change,
        earlier.build_number as build_before,
        later.build_number as build_after,
        -- null where a file has no record of the date
        earlier.answers_digest = later.answers_digest and earlier.context_digest = later.context_digest as has_same_data,
        coalesce(
            earlier.ruleset_version = later.ruleset_version and rules_before.digest = rules_after.digest,
            case when files.has_same_rulesets and files.has_same_models then true end
        ) as has_same_ruleset,
        coalesce(
            earlier.models_fingerprint = later.models_fingerprint, case when files.has_same_models then true end
        ) as has_same_models
    from dates_before as earlier
    full outer join dates_after as later using (operator, service_date)
    left join rulesets as rules_before
        on rules_before.side = 'before' and earlier.ruleset_version = rules_before.ruleset_version
    left join rulesets as rules_after
        on rules_after.side = 'after' and later.ruleset_version = rules_after.ruleset_version
    cross join files
),

judged as (
    select
        inputs.*,
        list_filter(
            [
                case when not has_same_data then 'data' end,
                case when not has_same_ruleset then 'ruleset' end,
                case when not has_same_models then 'models' end
            ],
            lambda each: each is not null
        ) as known,
        list_filter(
            [
                case when has_same_data is null then 'data' end,
                case when has_same_ruleset is null then 'ruleset' end,
                case when has_same_models is null then 'models' end
            ],
            lambda each: each is not null
        ) as possible,
        coalesce(differing.n_rows, 0) as n_rows
    from inputs
    left join differing on inputs.operator = differing.operator and inputs.service_date = differing.day
)

select
    operator,
    service_date,
    change,
    build_before,
    build_after,
    n_rows,
    case
        when change <> 'changed' then 'data'
        when len(known) + len(possible) = 1 then coalesce(known[1], possible[1])
        else 'not separated'
    end as cause,
    case
        when change <> 'changed' then 'the date is in one file only'
        when len(known) + len(possible) = 0 then 'nothing that is recorded differs'
        else concat_ws(
            '; ',
            nullif(array_to_string(known, ' and ') || ' changed', ' changed'),
            nullif(array_to_string(possible, ' and ') || ' may have changed', ' may have changed')
        )
    end as why
from judged
where n_rows > 0;
