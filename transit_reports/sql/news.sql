-- News that were listed in the period: the newest version of each, and how many there were.
with $asked

select
    news.news_id,
    arg_max(news.title, news.version_number) as title,
    arg_max(news.content, news.version_number) as content,
    local_time(min(coalesce(news.published_at, cast(news.published_date as timestamp)))) as published,
    local_time(min(news.valid_from)) as listed_from,
    case when not bool_or(coalesce(news.valid_to > asked.to_at, true)) then local_time(max(news.valid_to)) end
        as listed_to,
    count(*) as n_versions
from core.news as news
cross join asked
where news.valid_from < asked.to_at and coalesce(news.valid_to >= asked.from_at, true)
group by news.news_id
order by listed_from desc, news.news_id
