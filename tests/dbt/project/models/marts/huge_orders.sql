select order_id, customer_id, amount from {{ ref('big_orders') }} where amount >= 500
