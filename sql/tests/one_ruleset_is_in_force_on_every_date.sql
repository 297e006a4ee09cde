{{ config(severity='error', meta={'checks': 'logic'}) }}
select
    rules.ruleset_version,
    rules.valid_to_date,
    min(later.valid_from_date) as next_from_date
from {{ ref('rulesets') }} as rules
left join {{ ref('rulesets') }} as later
    on later.valid_from_date >= rules.valid_from_date and later.ruleset_version != rules.ruleset_version
where rules.valid_from_date < rules.valid_to_date
group by rules.ruleset_version, rules.valid_to_date
having coalesce(min(later.valid_from_date), cast('9999-12-31' as date)) != rules.valid_to_date
