-- News that were listed in the period: the newest version of each, how many there were, and what disruptions they are
-- about.
with $asked,

links as (
    select
        news_id,
        string_agg(distinct message, ' · ' order by message) as about
    from core.news_episodes
    inner join core.status_episodes using (operator, episode_id)
    group by news_id
)

select
    news.news_id,
    arg_max(news.title, news.version_number) as title,
    arg_max(news.content, news.version_number) as content,
    local_time(min(coalesce(news.published_at, cast(news.published_date as timestamp)))) as published,
    local_time(min(news.valid_from)) as listed_from,
    case when not bool_or(coalesce(news.valid_to > asked.to_at, true)) then local_time(max(news.valid_to)) end
        as listed_to,
    count(*) as n_versions,
    any_value(links.about) as about
from core.news as news
left join links using (news_id)
cross join asked
where news.valid_from < asked.to_at and coalesce(news.valid_to >= asked.from_at, true)
group by news.news_id
order by listed_from desc, news.news_id
