-- case: not_like
-- reads: h_clicks = Range 10..23
SELECT * FROM h_clicks WHERE dt = :biz_date AND hour NOT LIKE '0%';

-- case: not_like_is_like_negated
-- reads: h_clicks = Range 10..23
SELECT * FROM h_clicks WHERE dt = :biz_date AND NOT hour LIKE '0%';
